import type { PageContext } from '../../../views/page-context.ts';
import { Button, ButtonLink } from '../../../views/parts/button.tsx';
import { Icon } from '../../../views/parts/icon.tsx';
import { textsFor } from '../../texts.ts';
import { Specimen, Specimens } from './specimen.tsx';

const kinds = ['primary', 'quiet', 'danger', 'link'] as const;

export function ButtonParts({ ctx }: { ctx: PageContext }) {
  const t = textsFor(ctx);
  return (
    <>
      {kinds.map((kind) => {
        const look = { kind, type: 'button', children: t(`parts.buttons.${kind}`) } as const;
        return (
          <Specimens key={kind} title={t(`parts.names.button.${kind}`)}>
            {(['rest', 'hover', 'focus', 'active'] as const).map((state) => (
              <Specimen key={state} ctx={ctx} state={state}>
                <Button {...look} />
              </Specimen>
            ))}
            <Specimen ctx={ctx} state="disabled">
              <Button {...look} disabled />
            </Specimen>
            <Specimen ctx={ctx} state="busy">
              <Button {...look} busy />
            </Specimen>
          </Specimens>
        );
      })}
      <section className="specimens">
        <h3>{t('parts.names.sizes')}</h3>
        <div className="actions">
          <ButtonLink href="#top" kind="quiet">
            {t('parts.buttons.quiet')}
          </ButtonLink>
          <ButtonLink href="#top" kind="quiet" size="small">
            {t('parts.buttons.small')}
          </ButtonLink>
          <ButtonLink href="#top">
            {t('parts.buttons.primary')}
            <Icon name="arrow" />
          </ButtonLink>
        </div>
      </section>
    </>
  );
}
