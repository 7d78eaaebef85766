import { describe, expect, it } from 'vitest';
import { readDiscovery } from '../../../src/tokens/discovery.ts';

const SOURCE = {
  issuer: 'https://auth.example/realm',
  documentUrl: 'https://config.example/.well-known/openid-configuration',
  hosts: ['tokens.example', 'ports.example:8443', 'written.example:443'],
  hasCertificate: false,
};
const DOCUMENT = {
  issuer: SOURCE.issuer,
  token_endpoint: 'https://auth.example/realm/token',
  backchannel_authentication_endpoint: 'https://config.example/bc-authorize',
  jwks_uri: 'http://elsewhere.example',
};

describe('a discovery document', () => {
  it('names the endpoints that the grant needs, and no others', () => {
    const token = 'https://auth.example/realm/token';
    expect(readDiscovery(DOCUMENT, SOURCE, ['token'])).toEqual({ token });
    expect(readDiscovery(DOCUMENT, SOURCE, ['backchannelAuthentication', 'cibaToken'])).toEqual({
      backchannelAuthentication: 'https://config.example/bc-authorize',
      cibaToken: token,
    });
  });

  it('has the addresses for clients with a certificate, where it names them', () => {
    const token_endpoint = 'https://tokens.example/mtls/token';
    const document = { ...DOCUMENT, mtls_endpoint_aliases: { token_endpoint } };
    const needed = ['backchannelAuthentication', 'cibaToken'] as const;
    const plain = readDiscovery(document, SOURCE, needed);
    expect(plain).toEqual(readDiscovery(DOCUMENT, SOURCE, needed));
    const source = { ...SOURCE, hasCertificate: true };
    expect(readDiscovery(document, source, needed)).toEqual({
      ...Object(plain),
      cibaToken: token_endpoint,
    });
    expect(readDiscovery(DOCUMENT, source, needed)).toEqual(plain);
    const elsewhere = { token_endpoint: 'https://elsewhere.example/token' };
    const moved = { ...DOCUMENT, mtls_endpoint_aliases: elsewhere };
    expect(readDiscovery(moved, source, needed)).toBe('an endpoint on another host');
  });

  it.each<[string, unknown, string]>([
    ['null', null, 'no JSON object'],
    ['another issuer', { ...DOCUMENT, issuer: 'https://auth.example' }, 'another issuer'],
    ['the issuer with a slash', { ...DOCUMENT, issuer: `${SOURCE.issuer}/` }, 'another issuer'],
    ['no endpoint', { ...DOCUMENT, token_endpoint: undefined }, 'an endpoint is missing'],
    ['a list', { ...DOCUMENT, token_endpoint: ['https://auth.example'] }, 'an endpoint is missing'],
  ])('of %s: %s', (_, document, flaw) => {
    expect(readDiscovery(document, SOURCE, ['token'])).toBe(flaw);
  });

  const plain = 'an endpoint without https';
  const elsewhere = 'an endpoint on another host';
  it.each<[string, string, string | undefined]>([
    ['plain http', 'http://auth.example/token', plain],
    ['a password', 'https://a:b@auth.example/', plain],
    ['another port of the host', 'https://auth.example:8443/token', elsewhere],
    ['another port of a named host', 'https://tokens.example:8443/token', elsewhere],
    ['another host', 'https://auth.example.evil.example/', elsewhere],
    ['the port of https, written out', 'https://auth.example:443/token', undefined],
    ['a port that the settings name', 'https://ports.example:8443/token', undefined],
    ['the port that the settings write out', 'https://written.example/token', undefined],
    ['a host that the settings name', 'https://tokens.example/t', undefined],
  ])('with %s: %s: %s', (_, token_endpoint, flaw) => {
    const read = readDiscovery({ ...DOCUMENT, token_endpoint }, SOURCE, ['token']);
    expect(read).toEqual(flaw ?? { token: new URL(token_endpoint).href });
  });
});
