import type { ServerResponse } from 'node:http';
import { answerJson, RecordingServer, type Received } from '../http/recordingServer.ts';

/** What the operator does in place of its answer to one kind of request. */
export interface Script {
  /** Answers a lookup; `{ swapped: false }` where absent. */
  readonly lookUp?: (received: Received, response: ServerResponse) => void;
  /** Answers a token request of either flow. */
  readonly token?: (received: Received, response: ServerResponse) => void;
}

/** Grants a token that no other request gets. */
export function grantToken(received: Received, response: ServerResponse): void {
  const token = `token-${received.correlator}`;
  answerJson(received, response, { access_token: token, token_type: 'Bearer', expires_in: 60 });
}

/** An operator at the end of a wire that can be watched: `received` is what came, connection by connection. */
export function startScriptedOperator(script: Script = {}): Promise<RecordingServer> {
  return RecordingServer.start((received, response) => {
    if (received.path.endsWith('/bc-authorize')) {
      answerJson(received, response, { auth_req_id: 'consent-1', expires_in: 60, interval: 1 });
    } else if (received.path.endsWith('/token')) {
      (script.token ?? grantToken)(received, response);
    } else if (script.lookUp === undefined) {
      answerJson(received, response, { swapped: false });
    } else {
      script.lookUp(received, response);
    }
  });
}

/** The requests of one kind that came. */
export function lookupsOf({ received }: RecordingServer): readonly Received[] {
  return received.filter(({ path }) => /\/(check|retrieve-date)$/.test(path));
}
