import { Icon } from './icon.tsx';

export interface RevealProps {
  /** The password input's id. */
  controls: string;
  label: string;
}

/** The eye in a password field: a button that needs a script. */
export function RevealView(props: RevealProps & { isVisible?: boolean; onClick?: () => void }) {
  const { controls, label, isVisible = false, onClick } = props;
  return (
    <button
      type="button"
      className="reveal needs-script"
      aria-controls={controls}
      aria-label={label}
      aria-pressed={isVisible}
      onClick={onClick}
    >
      <Icon name="eye" />
    </button>
  );
}
