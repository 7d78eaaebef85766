import { useEffect, useRef, useState } from 'react';
import type { Counts, LogLine } from '../pageServer.ts';

const FROM: Readonly<Record<LogLine['from'], string>> = {
  reply: 'to the phone',
  sms: 'SMS',
  note: 'only here',
};

/** The server's log, as it grows. */
export function Log() {
  const [lines, setLines] = useState<readonly LogLine[]>([]);
  const [counts, setCounts] = useState<Counts>({ prompts: 0, lookups: 0, sms: 0 });
  const [isConnected, setIsConnected] = useState(false);
  const end = useRef<HTMLDivElement>(null);

  useEffect(() => {
    const events = new EventSource('/log');
    // The server begins with all that it has, after an interruption too.
    events.addEventListener('open', () => {
      setLines([]);
      setIsConnected(true);
    });
    events.addEventListener('error', () => setIsConnected(false));
    events.addEventListener('line', ({ data }) => {
      const line = JSON.parse(data as string) as LogLine;
      setLines((before) => [...before, line].slice(-200));
    });
    events.addEventListener('counts', ({ data }) =>
      setCounts(JSON.parse(data as string) as Counts),
    );
    return () => events.close();
  }, []);
  useEffect(() => {
    end.current?.scrollIntoView({ block: 'nearest' });
  }, [lines]);

  return (
    <section className="log" aria-label="The server’s log">
      <header>
        <h2>The server’s log</h2>
        <p>
          <b>{counts.prompts}</b> {counts.prompts === 1 ? 'prompt' : 'prompts'},{' '}
          <b>{counts.lookups}</b> {counts.lookups === 1 ? 'lookup' : 'lookups'} at the operator,{' '}
          <b>{counts.sms}</b> SMS
        </p>
      </header>
      {isConnected ? null : <p role="status">The server has ended, or cannot be reached.</p>}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls */}
      <div className="log__lines" role="log" aria-label="Lines" tabIndex={0}>
        {lines.length === 0 ? <p>Nothing was requested yet.</p> : null}
        <ol>
          {lines.map(({ atMs, from, text }, index) => (
            <li key={`${atMs} ${index}`} data-from={from}>
              <time>{new Date(atMs).toLocaleTimeString('en-GB')}</time>
              <span>{FROM[from]}</span>
              <code>{text}</code>
            </li>
          ))}
        </ol>
        <div ref={end} />
      </div>
    </section>
  );
}
