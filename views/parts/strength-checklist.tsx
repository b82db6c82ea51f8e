import type { T } from '../../locales/index.ts';
import { Icon } from './icon.tsx';

/** The three rules for new passwords, in the specification's order. */
export const strengthRules = ['numberOrSymbol', 'length', 'notPersonal'] as const;
export type StrengthRule = (typeof strengthRules)[number];

const looks = { met: 'check', unmet: 'alert', open: 'dot' } as const;

/**
 * The rules beside the field of a new password, each with a sign: met, missed, or not looked at yet.
 * @param met which rules the password that was sent met; left out while nothing has been sent
 */
export function StrengthChecklist(props: { t: T; id: string; met?: Record<StrengthRule, boolean> | undefined }) {
  const { t, id, met } = props;
  return (
    <ul className="strength" id={id} aria-label={t('common.strength.label')}>
      {strengthRules.map((rule) => {
        const state = met === undefined ? 'open' : met[rule] ? 'met' : 'unmet';
        return (
          <li key={rule} className={state}>
            <Icon name={looks[state]} />
            <span>
              {t(`common.strength.${rule}`)}
              {state !== 'open' && <span className="visually-hidden"> ({t(`common.strength.${state}`)})</span>}
            </span>
          </li>
        );
      })}
    </ul>
  );
}
