/** The request's time is over: `REQUEST_TIMEOUT_MS`. */
export class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded';
}

/** The client has closed its connection. */
export class CallerGone extends Error {
  override readonly name = 'CallerGone';
}
