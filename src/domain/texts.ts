/** Submitted texts: validity and maximum lengths in UTF-16 units, shown in the OpenAPI document and docs/reliability.md. Answers are not limited. */
import { z } from 'zod';

/** Common servers accept no longer ones (nginx 8 KB, Apache 8,190 bytes). */
export const maxUrlLength = 8192;
/** More than any browser keeps in its history, so that every stored page can be deleted. */
export const maxForgottenUrlLength = 65_536;
/** The limit of Firefox and Chromium. */
export const maxTitleLength = 4096;
export const maxSourceLength = 200;
export const maxReasonLength = 2000;
/** Of a host with every letter escaped. */
export const maxDomainLength = 1024;
/** Of a path parameter; entity names are the longest. */
export const maxPathTextLength = 1024;
/** Of a generated id; those of models are longer. */
const maxIdLength = 100;

/** Only well-formed text survives UTF-8. */
export const isWellFormed = (text: string): boolean => text.isWellFormed();
export const loneSurrogates = { message: 'must be well-formed Unicode: it has a lone surrogate' };

export const storedText = (maxLength: number) => z.string().max(maxLength).refine(isWellFormed, loneSurrogates);
/** Limited by its body alone. */
export const bodyText = z.string().refine(isWellFormed, loneSurrogates);

export const idText = z.string().max(maxIdLength);
/** The router refuses longer ones as unknown paths. */
export const pathText = z.string().max(maxPathTextLength);
