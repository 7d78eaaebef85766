import { startIdentityProvider } from './identityProvider.ts';

/** Of its program: the stack starts it in a process of its own. */
const { PORT = '0', DESK_ORIGIN = '', RESOURCE = '', CLIENT_SECRET = '' } = process.env;
const { ACCESS_TOKEN_SECONDS = '300' } = process.env;

const provider = await startIdentityProvider({
  port: Number(PORT),
  deskOrigin: DESK_ORIGIN,
  resource: RESOURCE,
  clientSecret: CLIENT_SECRET,
  accessTokenSeconds: Number(ACCESS_TOKEN_SECONDS),
});
process.send?.({ url: provider.issuer });
process.once('SIGTERM', () => void provider[Symbol.asyncDispose]().then(() => process.exit(0)));
