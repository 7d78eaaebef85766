import { parseAmount, type Micros, type Price } from '../domain/price.ts';
import type { EnvironmentReader } from './environment.ts';

type PriceName = 'OPERATOR_PRICE_RETRIEVE_DATE' | 'OPERATOR_PRICE_CHECK';

/** Reads what the operator bills for its lookups; `undefined` where no price is set. */
export function readPrice(read: EnvironmentReader): Price | undefined {
  const retrieveDate = readAmount(read, 'OPERATOR_PRICE_RETRIEVE_DATE');
  const check = readAmount(read, 'OPERATOR_PRICE_CHECK');
  const currency = read.text('OPERATOR_PRICE_CURRENCY');
  if (retrieveDate === undefined && check === undefined) {
    if (currency !== undefined) {
      read.problem('OPERATOR_PRICE_CURRENCY', 'is set without a price: set OPERATOR_PRICE_CHECK');
    }
    return undefined;
  }
  if (currency === undefined || !/^[A-Z]{3}$/.test(currency)) {
    read.unfit('OPERATOR_PRICE_CURRENCY', 'must be a currency by its three letters, such as EUR');
  }
  return {
    currency: currency ?? '',
    microsPerLookup: { 'retrieve-date': retrieveDate ?? 0, check: check ?? 0 },
  };
}

function readAmount(read: EnvironmentReader, name: PriceName): Micros | undefined {
  const text = read.text(name);
  if (text === undefined) return undefined;
  const amount = parseAmount(text);
  if (amount === undefined) {
    read.unfit(name, 'must be an amount with at most six decimals, such as 0.0215');
  }
  return amount;
}
