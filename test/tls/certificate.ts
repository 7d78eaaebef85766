import { createPrivateKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** A certificate and its private key, in PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

const DAY_MS = 24 * 3_600_000;

export interface CertificateWish {
  /** Its name; `localhost` where absent. */
  readonly name?: string;
  /** The authority, with its name; self-signed where absent. */
  readonly signedBy?: Certificate & { readonly name: string };
  /** In days from now; from yesterday, for a month, where absent. */
  readonly validDays?: readonly [from: number, until: number];
}

/** A certificate for its name and `127.0.0.1`, with an ECDSA key on P-256 (RFC 5280), which Node cannot make. */
export function createCertificate({
  name: subjectName = 'localhost',
  signedBy,
  validDays: [from, until] = [-1, 30],
}: CertificateWish = {}): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(objectId(ECDSA_WITH_SHA256));
  const subject = distinguishedName(subjectName);
  const toBeSigned = sequence(
    tlv(EXPLICIT_0, integer(Buffer.of(2))),
    integer(Buffer.concat([Buffer.of(1), randomBytes(8)])),
    algorithm,
    signedBy === undefined ? subject : distinguishedName(signedBy.name),
    sequence(utcTime(Date.now() + from * DAY_MS), utcTime(Date.now() + until * DAY_MS)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    tlv(EXPLICIT_3, sequence(isAuthority(), alternativeNames(subjectName))),
  );
  const signer = signedBy === undefined ? privateKey : createPrivateKey(signedBy.key);
  const signature = sign('sha256', toBeSigned, signer);
  const der = sequence(toBeSigned, algorithm, tlv(BIT_STRING, Buffer.of(0), signature));
  const lines = der.toString('base64').replace(/.{1,64}/g, '$&\n');
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

// Tags and object identifiers of DER (X.690).
const BOOLEAN = 0x01;
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const OBJECT_ID = 0x06;
const UTF8_STRING = 0x0c;
const UTC_TIME = 0x17;
const SEQUENCE = 0x30;
const SET = 0x31;
const DNS_NAME = 0x82;
const IP_ADDRESS = 0x87;
const EXPLICIT_0 = 0xa0;
const EXPLICIT_3 = 0xa3;
/** 1.2.840.10045.4.3.2 */
const ECDSA_WITH_SHA256 = '2a8648ce3d040302';
/** 2.5.4.3 */
const COMMON_NAME = '550403';
/** 2.5.29.19 */
const BASIC_CONSTRAINTS = '551d13';
/** 2.5.29.17 */
const SUBJECT_ALTERNATIVE_NAME = '551d11';

function distinguishedName(name: string): Buffer {
  return sequence(tlv(SET, sequence(objectId(COMMON_NAME), tlv(UTF8_STRING, Buffer.from(name)))));
}

/** A self-signed certificate is its own authority: with this it can be trusted as one. */
function isAuthority(): Buffer {
  const constraints = sequence(tlv(BOOLEAN, Buffer.of(0xff)));
  return sequence(
    objectId(BASIC_CONSTRAINTS),
    tlv(BOOLEAN, Buffer.of(0xff)),
    tlv(OCTET_STRING, constraints),
  );
}

function alternativeNames(name: string): Buffer {
  const names = sequence(
    tlv(DNS_NAME, Buffer.from(name)),
    tlv(IP_ADDRESS, Buffer.of(127, 0, 0, 1)),
  );
  return sequence(objectId(SUBJECT_ALTERNATIVE_NAME), tlv(OCTET_STRING, names));
}

function tlv(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.of(tag), length(content.length), content]);
}

function length(bytes: number): Buffer {
  if (bytes < 0x80) return Buffer.of(bytes);
  return bytes < 0x100 ? Buffer.of(0x81, bytes) : Buffer.of(0x82, bytes >> 8, bytes & 0xff);
}

function sequence(...contents: readonly Buffer[]): Buffer {
  return tlv(SEQUENCE, ...contents);
}

function integer(value: Buffer): Buffer {
  return tlv(INTEGER, value);
}

function objectId(hex: string): Buffer {
  return tlv(OBJECT_ID, Buffer.from(hex, 'hex'));
}

/** `YYMMDDhhmmssZ`, valid until 2049. */
function utcTime(atMs: number): Buffer {
  const digits = new Date(atMs).toISOString().replace(/\D/g, '').slice(2, 14);
  return tlv(UTC_TIME, Buffer.from(`${digits}Z`));
}
