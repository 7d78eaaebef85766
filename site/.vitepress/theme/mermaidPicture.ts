import { useData } from 'vitepress';
import { defineComponent, h, ref, watchEffect } from 'vue';

let pictures = 0;

/** Of a picture's own size: its letters have 12 px then. */
const SMALLEST = 0.75;

/** A picture of a page, drawn in the reader's browser, again when it turns dark. */
export const MermaidPicture = defineComponent({
  props: { code: { type: String, required: true } },
  setup({ code }) {
    const { isDark } = useData();
    const svg = ref('');
    watchEffect(() => void draw(isDark.value));

    async function draw(dark: boolean): Promise<void> {
      if (import.meta.env.SSR) return;
      const { default: mermaid } = await import('mermaid');
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
