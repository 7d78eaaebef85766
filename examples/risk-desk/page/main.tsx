import { StrictMode } from 'react';
import { I18nProvider } from 'react-aria-components';
import { createRoot } from 'react-dom/client';
import { App } from './views/App.tsx';
import { ErrorPage } from './views/ErrorPage.tsx';

/**
 * react-aria adds a <style> of this id to the page unless there is one, which the content security policy
 * forbids; what would be in it is in parts.css.
 */
const pressableStyle = document.createElement('meta');
pressableStyle.id = 'react-aria-pressable-style';
document.head.append(pressableStyle);

const root = document.getElementById('root');
if (root !== null) {
  // An error's message may quote what a component held: neither the console nor a report gets it.
  createRoot(root, { onCaughtError: () => undefined }).render(
    <StrictMode>
      <ErrorPage>
        <I18nProvider locale="en-GB">
          <App />
        </I18nProvider>
      </ErrorPage>
    </StrictMode>,
  );
}
