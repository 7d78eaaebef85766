import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { EVERYONE } from './people.ts';

const STYLE = `
  @font-face { font-family: 'Inter Variable'; src: url('/inter.woff2') format('woff2'); font-weight: 100 900; font-display: swap; }
  :root {
    color-scheme: light dark;
    font: 14px/1.5 'Inter Variable', ui-sans-serif, system-ui, sans-serif;
    color: light-dark(#15171c, #eceef2);
    background: light-dark(#fafafb, #0c0d10);
  }
  * { box-sizing: border-box; }
  body { display: grid; place-items: center; min-height: 100dvh; margin: 0; padding: 24px 16px; }
  main { width: min(360px, 100%); }
  h1 { margin: 0 0 20px; font-size: 22px; line-height: 1.25; font-weight: 600; letter-spacing: -.02em; }
  .brand { display: flex; align-items: center; gap: 8px; margin: 0 0 28px; font-size: 15px; font-weight: 600; letter-spacing: -.012em; }
  .brand path:first-child { fill: light-dark(#3d4fd6, #6f7ff2); }
  .brand path:last-child { fill: none; stroke: light-dark(#fff, #0c0d10); stroke-width: 1.2; }
  form, .note { padding: 22px; border: 1px solid light-dark(#e7e8ec, #25282f); border-radius: 12px; background: light-dark(#fff, #131519); }
  label { display: block; margin-bottom: 14px; font-size: 13px; font-weight: 500; color: light-dark(#515763, #a9afbb); }
  input { width: 100%; margin-top: 6px; padding: 8px 11px; border: 1px solid light-dark(#868c99, #6a707d); border-radius: 7px; font: inherit; color: inherit; background: transparent; }
  label input { color: light-dark(#15171c, #eceef2); font-weight: 400; font-size: 14px; }
  button { width: 100%; margin-top: 6px; padding: 10px; border: 0; border-radius: 7px; font: inherit; font-weight: 500; color: light-dark(#fff, #0b0d18); background: light-dark(#3d4fd6, #6f7ff2); cursor: pointer; }
  :focus-visible { outline: 2px solid light-dark(#3d4fd6, #a3afff); outline-offset: 2px; }
  dl { display: grid; grid-template-columns: auto 1fr; gap: 4px 14px; margin: 16px 0 0; font-size: 13px; color: light-dark(#515763, #a9afbb); }
  dt { font-weight: 600; color: light-dark(#15171c, #eceef2); }
  dd { margin: 0; }
  [role=alert] { margin: 0 0 14px; color: light-dark(#bd2a20, #ff948a); }
`;

/** What the pages of the provider may load: this style, the font, and the script that sends the sign-out on. */
export const PAGE_POLICY = `default-src 'none'; font-src 'self'; style-src 'sha256-${hash('sha256', STYLE, 'base64')}'; script-src 'self'; base-uri 'none'; frame-ancestors 'none'`;

/** @param wasRefused whether the name and password that were sent before are wrong */
export function signInPage(uid: string, wasRefused: boolean): string {
  const alert = wasRefused ? '<p role="alert">Wrong name or password. Try again.</p>' : '';
  // Shown, since the demo answers only on loopback.
  const people = EVERYONE.map(
    ({ login, password, does }) => `<dt>${login}</dt><dd>${password}<br>${does}</dd>`,
  );
  return page(
    'Sign in to the risk desk',
    `<form method="post" action="/interaction/${encodeURIComponent(uid)}">
      ${alert}<label>Name <input name="login" autocomplete="username" autofocus required></label>
      <label>Password <input name="password" type="password" autocomplete="current-password" required></label>
      <button type="submit">Sign in</button>
    </form>
    <dl aria-label="People of this demo, and their passwords">${people.join('')}</dl>`,
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

/** The desk's font. */
export const FONT = readFileSync(
  new URL(import.meta.resolve('@fontsource-variable/inter/files/inter-latin-wght-normal.woff2')),
);

export const SIGN_OUT_SCRIPT = "document.querySelector('button').click();\n";

export function messagePage(title: string, text: string): string {
  return page(title, `<p class="note">${text}</p>`);
}

/** As in the desk's own pages. */
const BRAND = `<p class="brand"><svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true"><path d="M5 1h7.2L17 5.8V17a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V3a2 2 0 0 1 2-2Z"/><path d="M6.5 9h7v6.5h-7zM6.5 12.2h7M10 9v6.5"/></svg> Risk desk</p>`;

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <title>${title}</title>
    <style>${STYLE}</style>
  </head>
  <body><main>${BRAND}<h1>${title}</h1>${body}</main></body>
</html>`;
}
