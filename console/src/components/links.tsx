import { Anchor, type AnchorProps, Button, type ButtonProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { ComponentPropsWithRef } from 'react';

type LinkProps = Omit<ComponentPropsWithRef<'a'>, keyof AnchorProps | keyof ButtonProps>;

function PlainAnchor(props: AnchorProps & LinkProps) {
  // Inherits the font size of the surrounding text.
  return <Anchor inherit={props.size === undefined} {...props} />;
}

function PlainButton(props: ButtonProps & LinkProps) {
  return <Button component="a" {...props} />;
}

/** A link to a page of the console. */
export const PageAnchor = createLink(PlainAnchor);

/** A page link that looks like a button. */
export const PageButton = createLink(PlainButton);
