import type { MakeProfile } from '../src/domain/profile.ts';
import aggregatorIn from './aggregator-in.ts';
import standard from './camara.ts';
import camaraDpop from './camara-dpop.ts';
import camaraJwtBearer from './camara-jwt-bearer.ts';
import claro from './claro.ts';
import kpn from './kpn.ts';
import mtn from './mtn.ts';
import nokia from './nokia.ts';
import orange from './orange.ts';
import telefonica from './telefonica.ts';
import twilioLookup from './twilio-lookup.ts';
import vodafoneMarketplace from './vodafone-marketplace.ts';
import vodafone from './vodafone.ts';
import vonageInsights from './vonage-insights.ts';

/** The profiles that an entry may name, each in a file of that name; `vodafone` where it names none. */
export const PROFILES = {
  vodafone,
  'vodafone-marketplace': vodafoneMarketplace,
  camara: standard,
  orange,
  telefonica,
  kpn,
  claro,
  'camara-jwt-bearer': camaraJwtBearer,
  'camara-dpop': camaraDpop,
  'aggregator-in': aggregatorIn,
  mtn,
  nokia,
  'twilio-lookup': twilioLookup,
  'vonage-insights': vonageInsights,
} as const satisfies Readonly<Record<string, MakeProfile>>;

export type ProfileName = keyof typeof PROFILES;
