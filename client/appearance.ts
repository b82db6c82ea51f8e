import type { Appearance } from '@stripe/stripe-js';

/**
 * The look of the page's own fields and choices for Stripe's payment element, in Stripe's terms
 * (docs.stripe.com/elements/appearance-api).
 * @param token a current value of the page's stylesheet, without its dashes
 */
export function appearance(token: (name: string) => string): Appearance {
  const [ink, line, danger, focus] = [token('ink'), token('line-strong'), token('danger'), token('focus')];
  const small = { fontSize: '14px', lineHeight: '20px' };
  const outline = (color: string) => ({ borderColor: color, boxShadow: `0 0 0 1px ${color}`, outline: 'none' });
  return {
    theme: matchMedia('(prefers-color-scheme: dark)').matches ? 'night' : 'stripe',
    variables: {
      colorPrimary: token('accent'),
      colorBackground: token('surface'),
      colorText: ink,
      colorTextSecondary: token('ink-2'),
      colorTextPlaceholder: token('ink-3'),
      colorDanger: danger,
      fontFamily: token('font'),
      fontSizeBase: '16px',
      fontSizeSm: '14px',
      borderRadius: token('radius-s'),
      gridRowSpacing: '18px',
      gridColumnSpacing: '12px',
    },
    rules: {
      '.Label': { ...small, fontWeight: '560', color: ink, marginBottom: '6px' },
      // With its border as high as the page's: 48px.
      '.Input': {
        padding: '11px 14px',
        border: `1px solid ${line}`,
        boxShadow: token('shadow-1'),
        fontSize: '16px',
        lineHeight: '24px',
      },
      '.Input:hover': { borderColor: token('ink-3') },
      '.Input:focus': outline(focus),
      '.Input--invalid': { borderColor: danger, backgroundColor: token('danger-soft'), boxShadow: 'none', color: ink },
      '.Input--invalid:focus': outline(danger),
      '.Input::placeholder': { fontSize: '14.5px' },
      '.Error': { ...small, fontWeight: '500' },
      '.TermsText': { ...small, color: token('ink-2') },
      '.AccordionItem': { padding: '16px', border: `1px solid ${line}`, boxShadow: token('shadow-1'), color: ink },
      '.AccordionItem--selected': { color: ink, fontWeight: '600' },
    },
  };
}
