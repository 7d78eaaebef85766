import { useState } from 'react';
import { Button } from 'react-aria-components';
import { useAsk } from './ask.ts';

/** What is on the desk stays, while a person signs in again beside it. */
export function SignedOutBanner({ onRenewed }: { readonly onRenewed: () => void }) {
  const ask = useAsk();
  const [isStillOut, setIsStillOut] = useState(false);
  const goOn = async (): Promise<void> => {
    const isIn = await ask.renewSession();
    setIsStillOut(!isIn);
    if (isIn) onRenewed();
  };
  return (
    <div className="banner banner--notice" role="alert">
      <div className="banner__text">
        <b>Your session has ended.</b>{' '}
        {isStillOut
          ? 'There is no session yet: sign in in the other tab first.'
          : 'Nothing more is asked. Sign in in another tab, then go on here: what is on the desk stays.'}
      </div>
      <a className="button" href="/sign-in" target="_blank" rel="noreferrer">
        Sign in in another tab
      </a>
      <Button className="button button--primary" onPress={() => void goOn()}>
        Go on
      </Button>
    </div>
  );
}
