import { relative } from 'node:path';
import { defineConfig } from 'vitepress';
import { addressOf, anchorOf, PROJECT, sidebar, targetOf } from '../pages.ts';

const groups = sidebar();

/** Runs in the browser too, by its text alone. */
const singular = (term: string): string => term.toLowerCase().replace(/(?<=[a-z]{3})s$/, '');

export default defineConfig({
  title: 'SIM swap',
  description: 'SIM swap answers in your GraphQL graph',
  lang: 'en',
  // No picture of its own; browsers would look for one.
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  // The pages stay where forges show them.
  srcDir: '..',
  srcExclude: [
    '**/node_modules/**',
    '!(docs|examples|bench|monitoring)/**/*.md',
    'examples/*/*/**',
  ],
  rewrites: addressOf,
  // The page of `/errors.md#…`, where a forge has it, is in redirects.ts.
  cleanUrls: false,
  lastUpdated: false,
  markdown: {
    languageAlias: { mjs: 'js' },
    anchor: { slugify: anchorOf },
    toc: { slugify: anchorOf },
    config(md) {
      // Links are written for forges, between files of the project.
      md.core.ruler.push('links', ({ tokens, env }) => {
        const page = relative(PROJECT, String(env.realPath ?? env.path));
        for (const { children } of tokens) {
          let isFile = false;
          for (const token of children ?? []) {
            if (token.type === 'link_close' && isFile) {
              token.tag = 'span';
              token.type = 'file_close';
            } else if (token.type === 'link_open') {
              const target = targetOf(page, token.attrGet('href') ?? '');
              isFile = target?.kind === 'file';
              if (target?.kind === 'page') token.attrSet('href', target.address);
              if (target?.kind === 'file') {
                token.tag = 'span';
                token.type = 'file_open';
                token.attrs = [
                  ['class', 'file'],
                  ['title', target.path],
                ];
              }
            }
          }
        }
      });
      const fence = md.renderer.rules.fence;
      md.renderer.rules.fence = (tokens, index, ...rest) => {
        const token = tokens[index];
        return token?.info.trim() === 'mermaid'
          ? `<ClientOnly><MermaidPicture code="${encodeURIComponent(token.content)}" /></ClientOnly>`
          : (fence?.(tokens, index, ...rest) ?? '');
      };
    },
  },
  themeConfig: {
    sidebar: groups.map(({ text, items }) => ({ text, items: [...items] })),
    outline: [2, 3],
    search: {
      provider: 'local',
      options: {
        miniSearch: {
          // One word in the singular and in the plural: built so, and searched so in the browser.
          options: { processTerm: singular },
          searchOptions: {
            processTerm: singular,
            // Runs in the browser, by its text alone: pages that people use before those about the project.
            boostDocument: (id: string) =>
              /\/(?:decisions|bench|changelog|contributing|compatibility)\b/.test(id)
                ? 0.3
                : /\/(?:design|operator-api|api|settings|monitoring)\b/.test(id)
                  ? 0.6
                  : 1,
          },
        },
      },
    },
  },
  vite: {
    publicDir: false,
  },
});
