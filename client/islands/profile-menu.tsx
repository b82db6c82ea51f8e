import { type FocusEvent, type KeyboardEvent, type MouseEvent, type PointerEvent, useEffect, useRef } from 'react';
import { type ProfileMenuProps, ProfileMenuView } from '../../views/parts/profile-menu.tsx';
import { adjacentElement } from '../keys.ts';

/** The pointer may leave the menu for this long. */
const patienceMs = 300;

/**
 * Opens on hover, on a click of its button, and on the arrow keys, which then move through its links. Closes on Escape
 * (the focus returns to the button), when focus or pointer have left, and on a click elsewhere. The state is only in
 * the document: `details` also opens and closes before the hydration.
 */
export default function ProfileMenu(props: ProfileMenuProps) {
  const menu = useRef<HTMLDetailsElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  /** Opened by hover: the click that follows must not close it. */
  const pointedOpen = useRef(false);
  const setOpen = (open: boolean) => {
    clearTimeout(timer.current);
    if (menu.current) menu.current.open = open;
  };
  const pointAt = () => {
    if (!menu.current?.open) pointedOpen.current = true;
    setOpen(true);
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: for as long as the menu is there
  useEffect(() => {
    if (menu.current?.matches(':hover') && matchMedia('(hover: hover)').matches) pointAt();
    const pressed = (event: Event) => {
      if (!menu.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener('pointerdown', pressed);
    return () => document.removeEventListener('pointerdown', pressed);
  }, []);

  const onKeyDown = (event: KeyboardEvent<HTMLDetailsElement>) => {
    const details = event.currentTarget;
    const button = details.querySelector('summary');
    if (event.key === 'Escape' && details.open) {
      setOpen(false);
      button?.focus();
      event.preventDefault();
    }
    if (!details.open && !/^Arrow(Up|Down)$/.test(event.key)) return;
    const next = adjacentElement([...details.querySelectorAll<HTMLElement>('a, button')], event.key, [
      'ArrowUp',
      'ArrowDown',
    ]);
    if (!next) return;
    setOpen(true);
    next.focus();
    event.preventDefault();
  };
  const on = {
    onKeyDown,
    onClick: (event: MouseEvent<HTMLDetailsElement>) => {
      if (!(event.target as Element).closest('summary')) return;
      if (event.currentTarget.open && pointedOpen.current) event.preventDefault();
      pointedOpen.current = false;
    },
    onPointerEnter: ({ pointerType }: PointerEvent) => {
      if (pointerType === 'mouse') pointAt();
    },
    onPointerLeave: ({ pointerType }: PointerEvent) => {
      if (pointerType === 'mouse') timer.current = setTimeout(() => setOpen(false), patienceMs);
    },
    onBlur: ({ relatedTarget, currentTarget }: FocusEvent) => {
      if (relatedTarget && !currentTarget.contains(relatedTarget)) setOpen(false);
    },
    onToggle: () => {
      if (!menu.current?.open) pointedOpen.current = false;
    },
  };
  return <ProfileMenuView {...props} menu={menu} on={on} />;
}
