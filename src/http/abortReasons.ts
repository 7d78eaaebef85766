/** The request's time is over: `REQUEST_TIMEOUT_MS`. */
export class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded';
}

/** Whoever asked has hung up. */
export class CallerGone extends Error {
  override readonly name = 'CallerGone';
}
