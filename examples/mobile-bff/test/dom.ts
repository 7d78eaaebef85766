import { Window } from 'happy-dom';

// What React needs of a page. `fetch` stays Node's own: the hook uses a real wire.
const window = new Window({ url: 'http://127.0.0.1/' });
Object.assign(globalThis, {
  window,
  document: window.document,
  HTMLElement: window.HTMLElement,
  MutationObserver: window.MutationObserver,
  IS_REACT_ACT_ENVIRONMENT: true,
});
