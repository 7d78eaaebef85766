import { useData } from 'vitepress';
import { defineComponent, h, ref, watchEffect } from 'vue';

let pictures = 0;

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
      // As it is drawn, or as wide as the column; on a phone it scrolls rather than becoming too small to read.
      svg.value = drawn.svg.replace(
        /max-width: ([\d.]+)px/,
        'max-width: $1px; min-width: min($1px, 40rem)',
      );
    }
    return () => h('div', { class: 'picture', innerHTML: svg.value });
  },
});
