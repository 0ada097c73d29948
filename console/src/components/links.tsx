import { Anchor, type AnchorProps, Button, type ButtonProps } from '@mantine/core';
import { createLink, type LinkComponent } from '@tanstack/react-router';
import type { ComponentPropsWithRef } from 'react';

type LinkProps = Omit<ComponentPropsWithRef<'a'>, keyof AnchorProps>;

function PlainAnchor(props: AnchorProps & LinkProps) {
  // Inherits the font size of the surrounding text.
  return <Anchor inherit={props.size === undefined} {...props} />;
}

/** Pages of an account link to others of the same one, which the router takes from the address. */
type PageLink<Plain> = LinkComponent<Plain, '/$account'>;

/** A link to a page of the console. */
export const PageAnchor: PageLink<typeof PlainAnchor> = createLink(PlainAnchor);

function PlainButton(props: ButtonProps & Omit<ComponentPropsWithRef<'a'>, keyof ButtonProps>) {
  return <Button component="a" variant="default" {...props} />;
}

/** A button that leads to a page of the console. */
export const PageButton: PageLink<typeof PlainButton> = createLink(PlainButton);
