/** The browser's assets of development: the product's, and those of the sandbox beside them. */
import { defineConfig, mergeConfig } from 'vite';
import product from '../vite.config.ts';

/** The stand-in for Stripe serves it instead of js.stripe.com. */
const stripeScript = 'sandbox/client/stripe-js.ts';

export default defineConfig((env) =>
  mergeConfig(product(env), {
    build: {
      rolldownOptions: {
        input: ['sandbox/client/sandbox.css', stripeScript],
        output: {
          entryFileNames: ({ facadeModuleId }: { facadeModuleId: string | null }) =>
            facadeModuleId?.endsWith(stripeScript) ? 'stand-in/[name].js' : '[name]-[hash].js',
        },
      },
    },
  }),
);
