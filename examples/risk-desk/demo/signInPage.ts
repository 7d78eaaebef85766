import { hash } from 'node:crypto';

const STYLE = `
  :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
  body { max-width: 22rem; margin: 15vh auto; padding: 0 1rem; }
  label { display: block; margin-top: 1rem; }
  input { box-sizing: border-box; width: 100%; padding: .5rem; font: inherit; }
  button { margin-top: 1.5rem; padding: .5rem 1.5rem; font: inherit; }
  [role=alert] { color: light-dark(#a00, #f99); }
`;

/** What the pages of the provider may load: this style, and the script that sends the sign-out on. */
export const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${hash('sha256', STYLE, 'base64')}'; script-src 'self'; base-uri 'none'; frame-ancestors 'none'`;

/** @param wasRefused whether name and password, as they were sent before, are wrong */
export function signInPage(uid: string, wasRefused: boolean): string {
  const alert = wasRefused
    ? '<p role="alert">The name or the password is wrong. Try again.</p>'
    : '';
  return page(
    'Sign in to the risk desk',
    `${alert}<form method="post" action="/interaction/${encodeURIComponent(uid)}">
      <label>Name <input name="login" autocomplete="username" autofocus required></label>
      <label>Password <input name="password" type="password" autocomplete="current-password" required></label>
      <button type="submit">Sign in</button>
    </form>`,
  );
}

/** @param form of the provider, which a script sends on; without scripts there is a button */
export function signOutPage(form: string): string {
  return page(
    'Signing out …',
    `${form}
    <button type="submit" form="op.logoutForm" name="logout" value="yes">Sign out</button>
    <script src="/sign-out.js"></script>`,
  );
}

export const SIGN_OUT_SCRIPT = "document.querySelector('button').click();\n";

export function messagePage(title: string, text: string): string {
  return page(title, `<p>${text}</p>`);
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <title>${title}</title>
    <style>${STYLE}</style>
  </head>
  <body><main><h1>${title}</h1>${body}</main></body>
</html>`;
}
