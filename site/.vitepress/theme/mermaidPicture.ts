import address from 'mermaid/dist/mermaid.min.js?url';
import { useData } from 'vitepress';
import { defineComponent, h, ref, watchEffect } from 'vue';

let pictures = 0;

/** Of a picture's own size: its letters have 10 px then. */
const SMALLEST = 0.65;

/** A picture of a page, drawn in the reader's browser, again when it turns dark. */
export const MermaidPicture = defineComponent({
  props: { code: { type: String, required: true } },
  setup({ code }) {
    const { isDark } = useData();
    const svg = ref('');
    watchEffect(() => void draw(isDark.value));

    async function draw(dark: boolean): Promise<void> {
      if (import.meta.env.SSR) return;
      const mermaid = await loaded();
      mermaid.initialize({
        startOnLoad: false,
        securityLevel: 'strict',
        theme: dark ? 'dark' : 'neutral',
        fontFamily: 'inherit',
      });
      pictures += 1;
      const drawn = await mermaid.render(`picture-${pictures}`, decodeURIComponent(code));
      // As wide as the column, and no smaller than can be read: then it scrolls.
      svg.value = drawn.svg.replace(
        /max-width: ([\d.]+)px/,
        (_, px: string) => `max-width: ${px}px; min-width: ${SMALLEST * Number(px)}px`,
      );
    }
    return () => h('div', { class: 'picture', innerHTML: svg.value });
  },
});

/** What is used of it. */
interface Mermaid {
  initialize(settings: Readonly<Record<string, unknown>>): void;
  render(id: string, code: string): Promise<{ readonly svg: string }>;
}

declare global {
  /** Set by Mermaid's own bundle. */
  var mermaid: Mermaid | undefined;
}

/** Mermaid's own bundle as it is, once a page: to bundle its sources takes most of the time of a build. */
function loaded(): Promise<Mermaid> {
  if (globalThis.mermaid !== undefined) return Promise.resolve(globalThis.mermaid);
  const there = document.querySelector<HTMLScriptElement>(`script[src="${address}"]`);
  const script = there ?? Object.assign(document.createElement('script'), { src: address });
  if (there === null) document.head.append(script);
  return new Promise((resolve, reject) => {
    script.addEventListener('load', () => globalThis.mermaid && resolve(globalThis.mermaid));
    script.addEventListener('error', reject);
  });
}
