import type { ReactNode } from 'react';
import { providerStyle } from './style.ts';

interface ProviderDocumentProps {
  title: string;
  /** The kind of its provider. */
  kind?: string | undefined;
  nonce: string;
  /** Whether its form is submitted by itself. */
  submits?: boolean;
  children?: ReactNode;
}

/** A page of one of the sandbox's providers: another site than Foyer's, with another look. */
export function ProviderDocument({ title, kind = 'none', nonce, submits = false, children }: ProviderDocumentProps) {
  return (
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <title>{title}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <link rel="icon" href="data:," />
        <style nonce={nonce}>{providerStyle}</style>
      </head>
      <body className={kind}>
        <main>{children}</main>
        <footer>
          <p>Sandbox: this page stands in for a provider’s own. No real account is behind it.</p>
        </footer>
        {submits && <script nonce={nonce}>document.forms[0].submit()</script>}
      </body>
    </html>
  );
}
