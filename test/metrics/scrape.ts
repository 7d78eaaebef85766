import { expect } from 'vitest';
import type { Service } from '../support/service.ts';

/** The values of all metrics, by name and labels as Prometheus reads them. */
export type Scraped = ReadonlyMap<string, number>;

/** The address of a service's metrics, from its log. */
export function metricsUrlOf({ logged }: Pick<Service, 'logged'>): string {
  const [, port] = /^info Serving metrics\. .*"port":(\d+)/m.exec(logged.join('\n')) ?? [];
  return `http://127.0.0.1:${port}/metrics`;
}

/** A second old at most. */
export async function metricsOf(service: Service): Promise<string> {
  const response = await fetch(metricsUrlOf(service));
  expect(response.status).toBe(200);
  return response.text();
}

export async function scrape(service: Service): Promise<Scraped> {
  const text = await metricsOf(service);
  return new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => {
        const space = line.lastIndexOf(' ');
        return [line.slice(0, space), Number(line.slice(space + 1))] as const;
      }),
  );
}

/** The sum of the metric's values whose labels match. */
export function sumOf(values: Scraped, name: string, labels: RegExp = /^/): number {
  return [...values]
    .filter(([key]) => key.split('{', 1)[0] === name && labels.test(key))
    .reduce((sum, [, value]) => sum + value, 0);
}
