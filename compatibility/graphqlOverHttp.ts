import { serverAudits } from 'graphql-http';
import { startSimulated } from '../test/support/service.ts';
import { finding, versionsOf, type Judge } from './judge.ts';

/** The audit of the GraphQL over HTTP specification. What is only recommended passes with a warning. */
export const GRAPHQL_OVER_HTTP: Judge = {
  name: 'GraphQL over HTTP, by graphql-http',
  version: versionsOf(['graphql-http']),
  form: 'short',
  async judge() {
    const service = await startSimulated({});
    try {
      const audits = serverAudits({
        url: `${service.url}/graphql`,
        // As our clients do: with the header that no page of another origin can send.
        fetchFn: (url: string, { headers, ...init }: RequestInit = {}) =>
          fetch(url, {
            ...init,
            headers: { ...(headers as Record<string, string>), 'apollo-require-preflight': '1' },
          }),
      });
      const findings = [];
      for (const { id, name, fn } of audits) {
        const result = await fn();
        const reason = result.status === 'ok' ? '' : `${result.status}, ${result.reason}`;
        findings.push(finding(`${id} ${name}`, result.status === 'ok', reason));
      }
      return findings;
    } finally {
      await service.stop();
    }
  },
};
