/** As much of it as the tests use; it comes without types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  export interface Context {
    path: string;
    readonly method: string;
    status: number;
    body: unknown;
    readonly oidc?: { readonly body?: Readonly<Record<string, string>> };
    readonly req: IncomingMessage;
    get(header: string): string;
    set(header: string, value: string): void;
  }

  export interface BackchannelRequest {
    readonly jti: string;
    readonly accountId: string;
    readonly clientId: string;
    readonly scope: string;
  }

  interface IssuedToken {
    readonly accountId?: string;
    readonly scope?: string;
    readonly isValid: boolean;
    destroy(): Promise<void>;
  }

  interface Grant {
    addOIDCScope(scope: string): void;
    save(): Promise<string>;
  }

  export default class Provider {
    constructor(issuer: string, configuration: Readonly<Record<string, unknown>>);
    readonly Grant: new (of: { accountId: string; clientId: string }) => Grant;
    readonly AccessToken: { find(value: string): Promise<IssuedToken | undefined> };
    readonly ClientCredentials: { find(value: string): Promise<IssuedToken | undefined> };
    use(middleware: (context: Context, next: () => Promise<void>) => Promise<void>): this;
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
    backchannelResult(request: BackchannelRequest, result: Grant | Error): Promise<void>;
  }

  export const errors: { readonly AccessDenied: new () => Error };
}
