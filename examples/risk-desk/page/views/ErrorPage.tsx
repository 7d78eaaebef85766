import { Component, type ReactNode } from 'react';

interface State {
  readonly isBroken: boolean;
}

/** Takes the place of a page that failed. It says nothing of what was on it. */
export class ErrorPage extends Component<{ readonly children: ReactNode }, State> {
  override state: State = { isBroken: false };

  static getDerivedStateFromError(): State {
    return { isBroken: true };
  }

  override render(): ReactNode {
    if (!this.state.isBroken) return this.props.children;
    return (
      <main className="notice">
        <h1>This page has failed</h1>
        <p>Its content is gone, and nothing is being checked. Reload it to start again.</p>
        <a className="button button--primary" href="/">
          Reload
        </a>
      </main>
    );
  }
}
