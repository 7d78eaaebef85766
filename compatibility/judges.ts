import { COMPOSER_JUDGES } from './composers.ts';
import { GATEWAY_JUDGES } from './gateways.ts';
import type { Judge } from './judge.ts';
import { SERVER_JUDGES } from './servers.ts';

/** All of them, in the order of the page. */
export const JUDGES: readonly Judge[] = [...COMPOSER_JUDGES, ...GATEWAY_JUDGES, ...SERVER_JUDGES];
