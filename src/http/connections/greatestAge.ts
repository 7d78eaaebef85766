/**
 * A connection that is never idle lives until something breaks it: what has changed since it was made (where
 * the name leads to, the server's certificate) never takes effect. After so long another takes its place.
 */
export const MAX_CONNECTION_AGE_MS = 10 * 60_000;
