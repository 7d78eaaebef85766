import type { SimSwapCaller } from 'sim-swap-subgraph/subgraph';

/** Your own authentication goes here. It decides what may be queried, so verify the token for real. */
export function callerOf(authorization: string | undefined): SimSwapCaller {
  const issuer = 'https://id.example.com';
  return authorization === 'Bearer a-customer'
    ? { issuer, subject: 'a-customer', mayAskAbout: 'own-number', ownNumber: '+447700900004' }
    : { issuer, subject: 'risk-desk', mayAskAbout: 'anyone' };
}
