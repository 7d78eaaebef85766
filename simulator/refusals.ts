/** The versions of CAMARA SIM Swap whose words the simulator knows. */
export type CamaraVersion = '0.4' | '1.0' | '2.1';

/** What prevents a lookup from being answered. Each version has its own word for it. */
export type Refusal =
  | 'invalid argument'
  | 'period out of range'
  | 'not authenticated'
  | 'no permission'
  | 'token of another number'
  | 'unknown number'
  | 'line not served'
  | 'number not derivable'
  | 'number not needed'
  | 'another request under way'
  | 'too many requests'
  | 'broken'
  | 'not implemented'
  | 'unavailable';

/** A refusal in the words of a version. */
export interface Wording {
  readonly status: number;
  readonly code: string;
  /** For people; CAMARA leaves the text to the operator. */
  readonly message: string;
}

const COMMON = {
  'invalid argument': {
    status: 400,
    code: 'INVALID_ARGUMENT',
    message: 'Client specified an invalid argument, request body or query param.',
  },
  'not authenticated': {
    status: 401,
    code: 'UNAUTHENTICATED',
    message: 'Request not authenticated due to missing, invalid, or expired credentials.',
  },
  'no permission': {
    status: 403,
    code: 'PERMISSION_DENIED',
    message: 'Client does not have sufficient permissions to perform this action.',
  },
  'another request under way': {
    status: 409,
    code: 'CONFLICT',
    message: 'Another request is created for the same MSISDN.',
  },
  'too many requests': {
    status: 429,
    code: 'TOO_MANY_REQUESTS',
    message: 'Rejected due to request rate limit overpassed.',
  },
  broken: {
    status: 500,
    code: 'INTERNAL',
    message: 'Unknown server error. Typically a server bug.',
  },
  'not implemented': {
    status: 501,
    code: 'NOT_IMPLEMENTED',
    message: 'This functionality is not implemented yet.',
  },
  unavailable: { status: 503, code: 'UNAVAILABLE', message: 'Service Unavailable.' },
} as const satisfies Partial<Record<Refusal, Wording>>;

const IN_1_0: Readonly<Record<Refusal, Wording>> = {
  ...COMMON,
  // 1.0 has no word of its own for it.
  'period out of range': COMMON['invalid argument'],
  'token of another number': {
    status: 403,
    code: 'INVALID_TOKEN_CONTEXT',
    message: 'phoneNumber is not consistent with access token.',
  },
  'unknown number': {
    status: 404,
    code: 'NOT_FOUND',
    message: 'The specified resource is not found.',
  },
  'line not served': {
    status: 422,
    code: 'NOT_SUPPORTED',
    message: 'Service not supported for this phoneNumber.',
  },
  'number not derivable': {
    status: 422,
    code: 'UNIDENTIFIABLE_PHONE_NUMBER',
    message: 'The phone number cannot be identified.',
  },
  // In 1.0 a number that fits the token may be named as well.
  'number not needed': COMMON['invalid argument'],
};

const WORDINGS: Readonly<Record<CamaraVersion, Readonly<Record<Refusal, Wording>>>> = {
  '0.4': {
    ...IN_1_0,
    'unknown number': {
      status: 404,
      code: 'SIM_SWAP.UNKNOWN_PHONE_NUMBER',
      message: 'SIM Swap can not be checked because the phone number is unknown.',
    },
    // The number is always named.
    'number not derivable': COMMON['invalid argument'],
    'line not served': COMMON['no permission'],
  },
  '1.0': IN_1_0,
  '2.1': {
    ...COMMON,
    'period out of range': {
      status: 400,
      code: 'OUT_OF_RANGE',
      message: 'Client specified an invalid range.',
    },
    'token of another number': COMMON['no permission'],
    'unknown number': {
      status: 404,
      code: 'IDENTIFIER_NOT_FOUND',
      message: 'Device identifier not found.',
    },
    'line not served': {
      status: 422,
      code: 'SERVICE_NOT_APPLICABLE',
      message: 'The service is not available for the provided identifier.',
    },
    'number not derivable': {
      status: 422,
      code: 'MISSING_IDENTIFIER',
      message: 'The device cannot be identified.',
    },
    'number not needed': {
      status: 422,
      code: 'UNNECESSARY_IDENTIFIER',
      message: 'The device is already identified by the access token.',
    },
  },
};

/** The refusal in the words of a version. Never quotes what was sent. */
export function wordingOf(version: CamaraVersion, refusal: Refusal): Wording {
  return WORDINGS[version][refusal];
}
