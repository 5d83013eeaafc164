/**
 * Texts that somebody sends: what they must be like, and how long each kind may be, in UTF-16 units. The OpenAPI document shows the bounds and
 * docs/reliability.md lists them; a longer text is refused, with its field and its bound. Answers are not bound: what was stored once is told.
 */
import { z } from 'zod';

/** Of a page, or of a source: common servers answer no longer ones (nginx 8 KB, Apache 8,190 bytes). */
export const maxUrlLength = 8192;
/** Of what is forgotten: more than any browser keeps in its history, so that whatever came in once goes. */
export const maxForgottenUrlLength = 65_536;
/** What Firefox and Chromium keep of a title. */
export const maxTitleLength = 4096;
export const maxSourceLength = 200;
export const maxReasonLength = 2000;
/** Of a host as it is written, with every letter escaped. */
export const maxDomainLength = 1024;
/** Of one parameter in a path. The longest is a name of an entity. */
export const maxPathTextLength = 1024;
/** Of an id that the service gave, of whatever kind; those of models are longer. */
const maxIdLength = 100;

/** Only then does a text survive being written as UTF-8. */
export const isWellFormed = (text: string): boolean => text.isWellFormed();
export const loneSurrogates = { message: 'must be well-formed Unicode: it has a lone surrogate' };

/** Text as it comes from outside and is stored. */
export const storedText = (maxLength: number) => z.string().max(maxLength).refine(isWellFormed, loneSurrogates);
/** The text of a page: bound by its body alone. */
export const bodyText = z.string().refine(isWellFormed, loneSurrogates);

export const idText = z.string().max(maxIdLength);
/** The router refuses longer ones as it does any path that leads nowhere. */
export const pathText = z.string().max(maxPathTextLength);
