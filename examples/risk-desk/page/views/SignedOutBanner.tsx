import { useState } from 'react';
import { Button } from 'react-aria-components';
import { useAsk } from './ask.ts';

/** What is on the desk stays, while a person signs in again beside it. */
export function SignedOutBanner({ onRenewed }: { readonly onRenewed: () => void }) {
  const ask = useAsk();
  const [isStillOut, setIsStillOut] = useState(false);
  const resume = async (): Promise<void> => {
    const isIn = await ask.renewSession();
    setIsStillOut(!isIn);
    if (isIn) onRenewed();
  };
  return (
    <div className="banner" role="alert">
      <p className="banner__text">
        <b>Your session has ended.</b>{' '}
        {isStillOut
          ? 'You are still signed out: sign in in the other tab first.'
          : 'Sign in again, then resume here. Nothing on this page is lost.'}
      </p>
      <a
        className="button button--primary"
        href="/sign-in"
        target="_blank"
        rel="noreferrer"
        title="Opens in another tab"
      >
        Sign in again
      </a>
      <Button className="button" onPress={() => void resume()}>
        Resume
      </Button>
    </div>
  );
}
