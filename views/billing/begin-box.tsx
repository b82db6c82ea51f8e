import { Checkbox } from '../parts/checkbox.tsx';

/** The name of the box in the forms that order a plan. */
export const beginField = 'beginsAtOnce';

/** As text. */
export interface BeginBoxProps {
  label: string;
  /** Shown if it was not ticked. */
  missing: string;
  isMissing?: boolean | undefined;
}

/**
 * The request that a plan begins before a withdrawal is over, above the button that orders it. It is never ticked by itself
 * (Directive 2011/83/EU, article 7 (3)).
 */
export const BeginBox = ({
  label,
  missing,
  isMissing,
  ...more
}: BeginBoxProps & { idName?: string; required?: boolean }) => (
  <Checkbox name={beginField} label={label} error={isMissing ? missing : undefined} {...more} />
);
