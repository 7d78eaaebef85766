import { createECDH, hash } from 'node:crypto';
import { SignJWT, type JSONWebKeySet } from 'jose';
import type { IssuerSettings } from './caller.ts';

export const MAX_DEVELOPMENT_MINUTES = 10_080;

export interface DevelopmentClaims {
  readonly subject: string;
  readonly client?: string | undefined;
  /** Scopes, separated by spaces. */
  readonly scope?: string | undefined;
  readonly phoneNumber?: string | undefined;
  readonly purpose?: string | undefined;
  readonly minutes: number;
}

const KEY_ID = 'development';

/** Not a secret: this file is public. A service accepts these tokens only while every operator is the simulator. */
function developmentKey(): Readonly<Record<'kty' | 'crv' | 'x' | 'y' | 'd', string>> {
  const ecdh = createECDH('prime256v1');
  ecdh.setPrivateKey(hash('sha256', 'development tokens of the SIM swap subgraph', 'buffer'));
  // Uncompressed: 4, then 32 bytes of each coordinate (SEC 1 §2.3.3).
  const point = ecdh.getPublicKey();
  return {
    kty: 'EC',
    crv: 'P-256',
    x: point.subarray(1, 33).toString('base64url'),
    y: point.subarray(33).toString('base64url'),
    d: ecdh.getPrivateKey().toString('base64url'),
  };
}

export function developmentKeys(): JSONWebKeySet {
  const { d: _d, ...publicKey } = developmentKey();
  return { keys: [{ ...publicKey, kid: KEY_ID, alg: 'ES256', use: 'sig' }] };
}

export const DEVELOPMENT_TOKENS: IssuerSettings = {
  isForDevelopment: true,
  jwksUrl: '',
  jwksConnection: {},
  issuer: 'urn:sim-swap:development',
  audience: 'sim-swap-subgraph',
};

export function signDevelopmentToken(
  { subject, client, scope, phoneNumber, purpose, minutes }: DevelopmentClaims,
  nowMs: number,
): Promise<string> {
  const nowSeconds = Math.floor(nowMs / 1000);
  return new SignJWT({
    client_id: client,
    scope,
    phone_number: phoneNumber,
    phone_number_verified: phoneNumber === undefined ? undefined : true,
    purpose,
  })
    .setProtectedHeader({ alg: 'ES256', kid: KEY_ID, typ: 'at+jwt' })
    .setIssuer(DEVELOPMENT_TOKENS.issuer)
    .setAudience(DEVELOPMENT_TOKENS.audience)
    .setSubject(subject)
    .setIssuedAt(nowSeconds)
    .setExpirationTime(nowSeconds + minutes * 60)
    .sign(developmentKey());
}
