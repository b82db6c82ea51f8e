/**
 * The parts of mails: rows of one column. Tables, because Outlook's Word engine supports no other layout; every part
 * has a plain-text form beside its HTML.
 */
import { Children, type ReactNode } from 'react';
import { look, type MailContext } from './mail-context.ts';

interface PartProps {
  ctx: MailContext;
  children: ReactNode;
}

export const fonts = 'Segoe UI, Roboto, -apple-system, BlinkMacSystemFont, Helvetica, Arial, sans-serif';
const mono = 'ui-monospace, SF Mono, Menlo, Consolas, Liberation Mono, monospace';

/** A table for layout only. */
export const layoutTable = { role: 'presentation', cellPadding: 0, cellSpacing: 0, border: 0 } as const;

function Row({ gap, children }: { gap: number; children: ReactNode }) {
  return (
    <tr>
      <td style={{ paddingBottom: gap }}>{children}</td>
    </tr>
  );
}

/** "E-mail" does not wrap after "e-". By style, because not every font of a mail client has the non-breaking hyphen. */
export function noBreak(children: ReactNode): ReactNode {
  return Children.map(children, (child) =>
    typeof child !== 'string'
      ? child
      : child.split(/(\be-mail\w*)/i).map((piece, index) =>
          index % 2 === 0 ? (
            piece
          ) : (
            // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text never change places
            <span key={index} style={{ whiteSpace: 'nowrap' }}>
              {piece}
            </span>
          ),
        ),
  );
}

const ofText = { margin: 0, fontFamily: fonts, fontSize: 16, lineHeight: '25px' } as const;

export function Title({ ctx, children }: PartProps) {
  if (ctx.medium === 'text') return <>{[children, '\n\n']}</>;
  return (
    <Row gap={20}>
      <h1
        {...look(
          ctx,
          { ink: 'ink' },
          {
            margin: 0,
            fontFamily: fonts,
            fontSize: 26,
            lineHeight: '32px',
            fontWeight: 600,
            textWrap: 'balance',
            overflowWrap: 'anywhere',
          },
        )}
      >
        {noBreak(children)}
      </h1>
    </Row>
  );
}

export function Paragraph({ ctx, children, quiet = false }: PartProps & { quiet?: boolean }) {
  if (ctx.medium === 'text') return <>{[children, '\n\n']}</>;
  return (
    <Row gap={20}>
      <p {...look(ctx, { ink: quiet ? 'ink-2' : 'ink' }, ofText)}>{noBreak(children)}</p>
    </Row>
  );
}

/** A one-time code: large, spaced only by style, so that a copy has no spaces. */
export function Code({ ctx, children }: PartProps) {
  if (ctx.medium === 'text') return <>{[children, '\n\n']}</>;
  return (
    <Row gap={20}>
      <table {...layoutTable} width="100%">
        <tbody>
          <tr>
            <td
              align="center"
              {...look(
                ctx,
                { ground: 'soft', line: 'line' },
                {
                  padding: '18px 8px',
                  borderWidth: 1,
                  borderStyle: 'solid',
                  borderRadius: 14,
                },
              )}
            >
              <div {...look(ctx, { ink: 'ink-2' }, { ...ofText, fontSize: 14, lineHeight: '20px' })}>
                {ctx.t('mail.codeLabel')}
              </div>
              <div
                {...look(
                  ctx,
                  { ink: 'ink' },
                  {
                    fontFamily: mono,
                    fontSize: 36,
                    lineHeight: '48px',
                    fontWeight: 700,
                    letterSpacing: 8,
                    // The last digit is spaced too.
                    paddingLeft: 8,
                    whiteSpace: 'nowrap',
                  },
                )}
              >
                {children}
              </div>
            </td>
          </tr>
        </tbody>
      </table>
    </Row>
  );
}

/** A link that looks like a button; the plain text shows the whole address. */
export function LinkButton({ ctx, href, children }: PartProps & { href: string; children: string }) {
  if (ctx.medium === 'text') return <>{[ctx.t('mail.labelled', { label: children }), '\n', href, '\n\n']}</>;
  const padding = '13px 26px';
  // Outlook pads the cell, all others the link, so that its whole area is clickable.
  const forOutlook = { msoPaddingAlt: padding } as object;
  return (
    <Row gap={24}>
      <table {...layoutTable}>
        <tbody>
          <tr>
            <td {...look(ctx, { ground: 'accent' }, { borderRadius: 12, ...forOutlook })}>
              <a
                href={href}
                target="_blank"
                rel="noopener"
                {...look(
                  ctx,
                  { ink: 'on-accent' },
                  {
                    display: 'inline-block',
                    padding,
                    fontFamily: fonts,
                    fontSize: 16,
                    lineHeight: '22px',
                    fontWeight: 600,
                    textAlign: 'center',
                    textDecoration: 'none',
                  },
                )}
              >
                {children}
              </a>
            </td>
          </tr>
        </tbody>
      </table>
    </Row>
  );
}

/** Within a line; in plain text its address follows it. */
export function TextLink({ ctx, href, children }: PartProps & { href: string; children: string }) {
  if (ctx.medium === 'text') return <>{[ctx.t('mail.labelled', { label: children }), '\n', href]}</>;
  return (
    <a href={href} target="_blank" rel="noopener" {...look(ctx, { ink: 'link' })}>
      {children}
    </a>
  );
}

/** A label with its value below it; an amount is beside it, as on a bill, a total in bold. */
export type Fact = readonly [label: string, value: string, as?: 'amount' | 'total'];

/** Labels with their values. */
export function Facts({ ctx, facts }: { ctx: MailContext; facts: readonly Fact[] }) {
  if (ctx.medium === 'text')
    return <>{[...facts.flatMap(([label, value]) => [ctx.t('mail.labelled', { label }), ' ', value, '\n']), '\n']}</>;
  return (
    <Row gap={14}>
      <table {...layoutTable} width="100%">
        <tbody>
          {facts.map(([label, value, as]) => {
            const line = { padding: '10px 0', borderTopWidth: 1, borderTopStyle: 'solid' } as const;
            const weight = as === 'total' ? { fontWeight: 700 } : {};
            return as === undefined ? (
              <tr key={label}>
                <td colSpan={2} {...look(ctx, { line: 'line' }, line)}>
                  <div {...look(ctx, { ink: 'ink-2' }, { ...ofText, fontSize: 14, lineHeight: '20px' })}>{label}</div>
                  <div {...look(ctx, { ink: 'ink' }, { ...ofText, wordBreak: 'break-word' })}>{value}</div>
                </td>
              </tr>
            ) : (
              <tr key={label}>
                <td {...look(ctx, { line: 'line' }, line)}>
                  <div {...look(ctx, { ink: as === 'total' ? 'ink' : 'ink-2' }, { ...ofText, ...weight })}>{label}</div>
                </td>
                <td align="right" {...look(ctx, { line: 'line' }, { ...line, whiteSpace: 'nowrap' })}>
                  <div {...look(ctx, { ink: 'ink' }, { ...ofText, ...weight })}>{value}</div>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Row>
  );
}
