import { describe, expect, it } from 'vitest';
import { readDiscovery } from '../../../src/tokens/discoveryDocument.ts';

const SOURCE = {
  issuer: 'https://auth.example/realm',
  documentUrl: 'https://config.example/.well-known/openid-configuration',
  hosts: ['tokens.example', 'ports.example:8443', 'written.example:443'],
};
const DOCUMENT = {
  issuer: SOURCE.issuer,
  token_endpoint: 'https://auth.example/realm/token',
  backchannel_authentication_endpoint: 'https://config.example/bc-authorize',
  jwks_uri: 'http://elsewhere.example',
};

describe('a discovery document', () => {
  it('names the endpoints that the grant needs, and no others', () => {
    expect(readDiscovery(DOCUMENT, SOURCE, ['token'])).toEqual({
      kind: 'read',
      addresses: { token: 'https://auth.example/realm/token' },
    });
    expect(readDiscovery(DOCUMENT, SOURCE, ['backchannelAuthentication', 'cibaToken'])).toEqual({
      kind: 'read',
      addresses: {
        backchannelAuthentication: 'https://config.example/bc-authorize',
        cibaToken: 'https://auth.example/realm/token',
      },
    });
  });

  it.each<[string, unknown, string | undefined]>([
    ['null', null, 'no JSON object'],
    ['a text', 'x', 'no JSON object'],
    ['no issuer', { ...DOCUMENT, issuer: undefined }, 'another issuer'],
    ['another issuer', { ...DOCUMENT, issuer: 'https://auth.example' }, 'another issuer'],
    ['the issuer with a slash', { ...DOCUMENT, issuer: `${SOURCE.issuer}/` }, 'another issuer'],
    ['no endpoint', { ...DOCUMENT, token_endpoint: undefined }, 'an endpoint is missing'],
    [
      'a list',
      { ...DOCUMENT, token_endpoint: [DOCUMENT.token_endpoint] },
      'an endpoint is missing',
    ],
    [
      'plain http',
      { ...DOCUMENT, token_endpoint: 'http://auth.example/token' },
      'an endpoint without https',
    ],
    [
      'a password',
      { ...DOCUMENT, token_endpoint: 'https://a:b@auth.example/' },
      'an endpoint without https',
    ],
    [
      'another port of the host',
      { ...DOCUMENT, token_endpoint: 'https://auth.example:8443/token' },
      'an endpoint on another host',
    ],
    [
      'another port of a host that the settings name',
      { ...DOCUMENT, token_endpoint: 'https://tokens.example:8443/token' },
      'an endpoint on another host',
    ],
    [
      'the port of https, written out',
      { ...DOCUMENT, token_endpoint: 'https://auth.example:443/token' },
      undefined,
    ],
    [
      'a port that the settings name',
      { ...DOCUMENT, token_endpoint: 'https://ports.example:8443/token' },
      undefined,
    ],
    [
      'the port of https, which the settings write out',
      { ...DOCUMENT, token_endpoint: 'https://written.example/token' },
      undefined,
    ],
    ['a relative path', { ...DOCUMENT, token_endpoint: '/token' }, 'an endpoint without https'],
    ['a file', { ...DOCUMENT, token_endpoint: 'file:///etc/passwd' }, 'an endpoint without https'],
    [
      'this machine',
      { ...DOCUMENT, token_endpoint: 'http://127.0.0.1/token' },
      'an endpoint on another host',
    ],
    [
      'the metadata of a cloud',
      { ...DOCUMENT, token_endpoint: 'https://169.254.169.254/' },
      'an endpoint on another host',
    ],
    [
      'a stranger',
      { ...DOCUMENT, token_endpoint: 'https://auth.example.evil.example/' },
      'an endpoint on another host',
    ],
    [
      'a host that the settings name',
      { ...DOCUMENT, token_endpoint: 'https://tokens.example/t' },
      undefined,
    ],
  ])('with %s: %s', (_, document, flaw) => {
    const read = readDiscovery(document, SOURCE, ['token']);
    expect(read.kind === 'refused' ? read.flaw : undefined).toBe(flaw);
  });
});
