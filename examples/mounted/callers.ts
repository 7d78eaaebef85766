import type { SimSwapCaller } from 'sim-swap-subgraph/subgraph';

/** Your own authentication stands here. What it says decides what may be asked, so verify the token for real. */
export function callerOf(authorization: string | undefined): SimSwapCaller {
  const issuer = 'https://id.example.com';
  return authorization === 'Bearer a-customer'
    ? { issuer, subject: 'a-customer', mayAskAbout: 'own-number', ownNumber: '+447700900004' }
    : { issuer, subject: 'risk-desk', mayAskAbout: 'anyone' };
}
