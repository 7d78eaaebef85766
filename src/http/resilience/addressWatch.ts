import type { PhoneNumber } from '../../domain/phoneNumber.ts';

const MIN_NUMBERS = 10;

/**
 * Suspects an address that knows no number. NOT_FOUND is CAMARA's word for an unknown number, and many a
 * gateway's for a wrong path: a mistyped URL would tell every user that their number is not served.
 */
export class AddressWatch {
  /** Numbers that were not found, until a reply shows that the address is right. */
  #notFound: Set<PhoneNumber> | undefined = new Set();

  /** A lookup's number was not found; whether the endpoint has said nothing else over ten numbers. */
  notFound(number: PhoneNumber): boolean {
    if (this.#notFound === undefined) return false;
    if (this.#notFound.size < MIN_NUMBERS) this.#notFound.add(number);
    return this.#notFound.size >= MIN_NUMBERS;
  }

  /** The endpoint gave an answer, or an error that only an operator's own endpoint gives. */
  isRight(): void {
    this.#notFound = undefined;
  }
}
