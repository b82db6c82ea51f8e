import type { PageContext } from '../page-context.ts';

/** The colors at the top of the pages (styles/tokens.css): the picture's wall, else paper. */
const colors = { wall: { light: '#124a41', dark: '#0a2823' }, paper: { light: '#faf8f4', dark: '#0d1312' } } as const;

/** Up to this width the picture is on top of the page. */
const maxStackedWidth = '(max-width: 899px)';

/** The color of the browser's bar on phones; React moves it into the head. A brand's own colors are not known here. */
export function ThemeColor({ ctx, top }: { ctx: PageContext; top: keyof typeof colors }) {
  if (ctx.assets.brandCss !== undefined) return null;
  return (['light', 'dark'] as const).map((scheme) => (
    <meta
      key={scheme}
      name="theme-color"
      media={`(prefers-color-scheme: ${scheme}) and ${maxStackedWidth}`}
      content={colors[top][scheme]}
    />
  ));
}
