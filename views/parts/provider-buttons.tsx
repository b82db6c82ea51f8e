import type { PageContext } from '../page-context.ts';
import { Button } from './button.tsx';
import { Notice } from './notice.tsx';
import { ProviderMark, type ProviderMarkProps } from './provider-mark.tsx';

/** The button of one provider. */
export interface ProviderButtonProps extends ProviderMarkProps {
  /** "Continue with Google". */
  label: string;
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
  return buttons.map(({ mark, label, logo, action }) => (
    <Button key={action} kind="quiet" block form={form} formAction={action}>
      <ProviderMark mark={mark} logo={logo} />
      {label}
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

/** Above the fields: Amazon and Google. */
export function PrimaryProviderButtons({ ctx: { t }, buttons, form }: ProviderButtonsProps) {
  if (buttons.top.length === 0) return null;
  return (
    <>
      <div className="provider-buttons">
        <ProviderButtons buttons={buttons.top} form={form} />
      </div>
      <Or>{t('federation.buttons.orEmail')}</Or>
    </>
  );
}

/**
 * Below the fields: the advice if a provider does not support this browser, Facebook separately, and the list of the
 * others, which opens without a script.
 */
export function MoreProviderButtons({ ctx: { t }, buttons, form }: ProviderButtonsProps) {
  const { facebook, others, open, instead } = buttons;
  if (facebook.length + others.length === 0 && instead === undefined) return null;
  return (
    <>
      <Or>{t('federation.buttons.or')}</Or>
      {instead !== undefined && <Notice kind="info">{instead}</Notice>}
      {facebook.length > 0 && (
        <div className="provider-buttons">
          <ProviderButtons buttons={facebook} form={form} />
        </div>
      )}
      {others.length > 0 && (
        <details className="more-provider-buttons" open={open}>
          <summary>
            {t('federation.buttons.others')}
            <span className="chip when-closed">{t('federation.buttons.more', { count: others.length })}</span>
            <span className="chip when-open">{t('federation.buttons.less')}</span>
          </summary>
          <div className="provider-buttons">
            <ProviderButtons buttons={others} form={form} />
          </div>
        </details>
      )}
    </>
  );
}
