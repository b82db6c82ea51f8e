import type { PageContext } from '../page-context.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';
import { Notice } from './notice.tsx';
import { ProviderMark, type ProviderMarkProps } from './provider-mark.tsx';

/** The button of one provider. */
export interface ProviderButtonProps extends ProviderMarkProps {
  /** "Continue with Google". */
  label: string;
  /** "Google": where several buttons share a row. */
  name: string;
  /** Its form's target. */
  action: string;
}

/** The buttons of a sign-in or sign-up page. */
export interface ProviderButtonGroups {
  /** Amazon and Google. */
  top: readonly ProviderButtonProps[];
  facebook: readonly ProviderButtonProps[];
  others: readonly ProviderButtonProps[];
  /** Whether the list of the others is open from the start. */
  open: boolean;
  /** The advice if providers do not support this browser. */
  instead?: string | undefined;
}

/** @param form the id of the submitted form: its fields are sent too */
export function ProviderButtons({
  buttons,
  form,
}: {
  buttons: readonly ProviderButtonProps[];
  form?: string | undefined;
}) {
  return buttons.map(({ mark, label, name, logo, action }) => (
    <Button key={action} kind="quiet" block form={form} formAction={action}>
      <ProviderMark mark={mark} logo={logo} />
      <span className="provider-label" data-name={name}>
        {label}
      </span>
    </Button>
  ));
}

/** "or", with a line on both sides. */
export function Or({ children }: { children: string }) {
  return <p className="or">{children}</p>;
}

interface ProviderButtonsProps {
  ctx: PageContext;
  buttons: ProviderButtonGroups;
  /** The id of the submitted form: its fields are sent too. */
  form: string;
}

/** Above the fields: Amazon and Google, and Facebook in a block of its own. On phones both blocks share one row. */
export function PrimaryProviderButtons({ ctx: { t }, buttons: { top, facebook }, form }: ProviderButtonsProps) {
  const count = top.length + facebook.length;
  if (count === 0) return null;
  return (
    <>
      <div className={count > 1 ? 'provider-blocks shared' : 'provider-blocks'}>
        {[top, facebook].map(
          (block) =>
            block[0] && (
              <div key={block[0].action} className="provider-buttons">
                <ProviderButtons buttons={block} form={form} />
              </div>
            ),
        )}
      </div>
      <Or>{t('federation.buttons.orEmail')}</Or>
    </>
  );
}

/**
 * Below the fields: the advice if a provider does not support this browser, and the list of the other providers, which
 * opens without a script.
 */
export function MoreProviderButtons({ ctx: { t }, buttons, form }: ProviderButtonsProps) {
  const { others, open, instead } = buttons;
  if (others.length === 0 && instead === undefined) return null;
  return (
    <>
      {instead !== undefined && (
        <>
          <Or>{t('federation.buttons.or')}</Or>
          <Notice kind="info">{instead}</Notice>
        </>
      )}
      {others.length > 0 && (
        <details className="more-provider-buttons" open={open}>
          <summary>
            {t('federation.buttons.others')}
            <span className="chip when-closed">{t('federation.buttons.more', { count: others.length })}</span>
            <span className="chip when-open">{t('federation.buttons.less')}</span>
            <Icon name="down" />
          </summary>
          <div className="provider-buttons">
            <ProviderButtons buttons={others} form={form} />
          </div>
        </details>
      )}
    </>
  );
}
