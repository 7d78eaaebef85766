import type { WireName } from '../operator/wires.ts';

/** Which of the operator's servers is asked, and from where: on this machine, or behind the network. */
export interface Place {
  readonly wire: WireName;
  readonly distance: 'near' | 'far';
}

/** The limit, which makes its own work. */
export interface RawContestant extends Place {
  readonly kind: 'raw';
  readonly connections: RawConnections;
}

/** Kept alive, a fresh one for each lookup, or a few with many streams. */
export type RawConnections = 'kept' | 'fresh for lookups' | 'HTTP/2';

/** What a team would write instead. */
export interface OtherServer extends Place {
  readonly kind: 'other';
  readonly program: 'mercurius' | 'restDataSource' | 'tunedApollo';
}

/** Callers have tokens; the audit log is written, and quotas are counted in memory; they are in Redis. */
export type Production = 'tokens' | 'audit' | 'whole';

/** How the third of three operators is. */
export type Third = 'well' | 'dead' | 'hangs';

export interface OurServer extends Place {
  readonly kind: 'ours';
  /** As far as that, each with what is before it. */
  readonly production?: Production;
  /** With a collector that takes its traces. */
  readonly isTraced: boolean;
  readonly settings: Readonly<Record<string, string>>;
  /** Three operators in place of one. */
  readonly third?: Third;
  /** Several of the same kind differ by this. */
  readonly instance: number;
}

/** What takes part. Contestants that are equal are one process. */
export type Contestant = RawContestant | OtherServer | OurServer;

/** Raw undici. */
export function raw(
  connections: RawConnections = 'kept',
  { wire = 'plain', distance = 'near' }: Partial<Place> = {},
): RawContestant {
  return { kind: 'raw', connections, wire, distance };
}

/** A server of another make. */
export function other(
  program: OtherServer['program'],
  { wire = 'plain', distance = 'near' }: Partial<Place> = {},
): OtherServer {
  return { kind: 'other', program, wire, distance };
}

/** A server of ours; plain, near, with the default settings and without callers, where not said otherwise. */
export function ours(differences: Partial<Omit<OurServer, 'kind'>> = {}): OurServer {
  return {
    kind: 'ours',
    wire: 'plain',
    distance: 'near',
    isTraced: false,
    settings: {},
    instance: 1,
    ...differences,
  };
}
