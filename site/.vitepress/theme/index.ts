import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme';
import { MermaidPicture } from './mermaidPicture.ts';
// oxlint-disable-next-line import/no-unassigned-import -- styles
import './site.css';

const theme: Theme = {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component('MermaidPicture', MermaidPicture);
  },
};

export default theme;
