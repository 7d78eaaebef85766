import { StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { PEOPLE_OF_PAGE } from '../people.ts';
import { Log } from './Log.tsx';
import { Phone } from './Phone.tsx';

function Page() {
  const [holder, setHolder] = useState(PEOPLE_OF_PAGE[0]);
  return (
    <main>
      <header>
        <h1>A mobile app behind the SIM swap BFF</h1>
        <p>
          The phone sends only its user’s access token. The server checks the SIM card, and sends
          the SMS or does not; the phone does not learn why.
        </p>
      </header>
      <fieldset className="holders">
        <legend>Who holds the phone</legend>
        {PEOPLE_OF_PAGE.map((person) => (
          <label key={person.subject}>
            <input
              type="radio"
              name="holder"
              checked={person === holder}
              onChange={() => setHolder(person)}
            />
            <span>
              <b>{person.subject}</b> <span className="holders__does">{person.does}</span>
            </span>
          </label>
        ))}
        <p className="holders__chosen" aria-hidden>
          {holder?.does}
        </p>
      </fieldset>
      {holder === undefined ? null : <Phone holder={holder} />}
      <Log />
    </main>
  );
}

const root = document.getElementById('root');
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <Page />
    </StrictMode>,
  );
}
