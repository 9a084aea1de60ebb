// What the site's templates and server give the scripts of static/js. It is for tsc alone: nothing here runs.
// Elements that a script's page always has are listed by id and by selector; tsc takes any other for one that may be missing.

interface ElementsById {
  judgement: HTMLFormElement;
  rating: HTMLFormElement;
  verdict: HTMLFormElement;
  undo: HTMLFormElement;
  skip: HTMLFormElement;
  stage: HTMLElement;
  announcement: HTMLElement;
  note: HTMLElement;
  saved: HTMLElement;
  trouble: HTMLElement;
  progress: HTMLElement;
  figures: HTMLElement;
  bar: HTMLProgressElement;
  sitting: HTMLInputElement;
  rehearsal: HTMLScriptElement;
  kept: HTMLTemplateElement;
  guidelines: HTMLDialogElement;
  "undo-off": HTMLElement;
  "use-keys": HTMLInputElement;
  "keys-problem": HTMLElement;
  "pause-dialog": HTMLDialogElement;
  "verdict-buttons": HTMLFieldSetElement;
  "reject-panel": HTMLFieldSetElement;
  "edit-panel": HTMLFieldSetElement;
  "edit-text": HTMLTextAreaElement;
  "reject-note": HTMLInputElement;
}

interface ElementsBySelector {
  "[data-undo]": HTMLButtonElement;
  "[data-skip]": HTMLButtonElement;
  "[data-blind]": HTMLElement;
  "[data-usual-keys]": HTMLElement;
  "[data-cancel]": HTMLElement;
  "[data-problem]": HTMLElement;
  "[data-text]": HTMLElement;
  "[data-add]": HTMLButtonElement;
  "[data-remove]": HTMLButtonElement;
  ".judge-bar": HTMLElement;
  ".next": HTMLButtonElement;
  ".threshold": HTMLElement;
  ".sentence-of": HTMLElement;
  "#skip-dialog form": HTMLFormElement;
}

interface ManyBySelector {
  "#skip-dialog, #flag-dialog": HTMLDialogElement;
  "[data-map]": HTMLInputElement;
  "#main input[type=search]:enabled": HTMLInputElement;
  "[data-made-from]": HTMLInputElement;
  "[data-column]": HTMLInputElement | HTMLSelectElement;
  "option[data-of]": HTMLOptionElement;
  "[data-after-waiting]": HTMLButtonElement;
  "[data-start]": HTMLElement;
  "[name=reasons]": HTMLInputElement;
  "[name=reasons]:checked": HTMLInputElement;
  "details.menu[open]": HTMLDetailsElement;
  "form.what-if button": HTMLButtonElement;
  "form.leftover": HTMLFormElement;
  "form[data-sent]": HTMLFormElement;
}

interface Document {
  getElementById<Id extends keyof ElementsById>(id: Id): ElementsById[Id];
  addEventListener<Type extends keyof DocumentEventMap>(type: Type, listener: (event: Heard<Type, DocumentEventMap[Type]>) => unknown): void;
}

interface ParentNode {
  querySelector<Selector extends keyof ElementsBySelector>(selectors: Selector): ElementsBySelector[Selector];
  querySelector<Tag extends keyof HTMLElementTagNameMap>(selectors: Tag): HTMLElementTagNameMap[Tag] | null;
  querySelector(selectors: `input[${string}`): HTMLInputElement | null;
  querySelector(selectors: string): HTMLElement | null;
  querySelectorAll<Selector extends keyof ManyBySelector>(selectors: Selector): NodeListOf<ManyBySelector[Selector]>;
  querySelectorAll<Tag extends keyof HTMLElementTagNameMap>(selectors: Tag): NodeListOf<HTMLElementTagNameMap[Tag]>;
  querySelectorAll(selectors: string): NodeListOf<HTMLElement>;
}

interface Element {
  closest<Tag extends keyof HTMLElementTagNameMap>(selectors: Tag): HTMLElementTagNameMap[Tag] | null;
  closest(selectors: `form${string}`): HTMLFormElement | null;
  closest(selectors: string): HTMLElement | null;
  matches(selectors: `form[${string}`): this is HTMLFormElement;
  matches(selectors: `input[${string}`): this is HTMLInputElement;
}

interface HTMLElement {
  addEventListener<Type extends keyof HTMLElementEventMap>(type: Type, listener: (event: Heard<Type, HTMLElementEventMap[Type]>) => unknown): void;
}

interface HTMLFormElement {
  addEventListener<Type extends keyof HTMLElementEventMap>(type: Type, listener: (event: Heard<Type, HTMLElementEventMap[Type]>) => unknown): void;
}

/** An event of an element: every one that the scripts look at the target of. */
type Heard<Type, Happened> = Happened & {
  readonly target: Type extends "submit" | "formdata" ? HTMLFormElement : Type extends "input" | "change" ? HTMLInputElement : HTMLElement;
};

interface HTMLFormControlsCollection {
  readonly csrfmiddlewaretoken: HTMLInputElement;
  readonly client_id: HTMLInputElement;
  readonly lease?: HTMLInputElement;
  readonly pair?: HTMLInputElement;
}

// The attributes data-…, of the elements that have them.
interface DOMStringMap {
  bestKey: string;
  copied: string;
  copy: string;
  dialog: string;
  guidelinesOf: string;
  kept: string;
  key: string;
  login: string;
  madeFrom: string;
  map: string;
  of: string;
  owner: string;
  page: string;
  properties: string;
  row: string;
  screen: string;
  selected: string;
  sentence: string;
  themeChoice: string;
  threshold: string;
  undoAddress: string;
  version: string;
  worstKey: string;
}

// htmx, by its documentation of events.
interface DocumentEventMap {
  "htmx:load": CustomEvent<{ elt: HTMLElement }>;
  "htmx:afterSwap": CustomEvent<{ target: HTMLElement }>;
  "htmx:beforeSwap": CustomEvent<{ target: HTMLElement; xhr: XMLHttpRequest; shouldSwap: boolean }>;
  "htmx:responseError": CustomEvent<{ elt: HTMLElement; xhr: XMLHttpRequest; pathInfo: { finalRequestPath: string } }>;
}

/** Not in all browsers. */
interface Navigator {
  readonly keyboard?: { getLayoutMap?(): Promise<Map<string, string>> };
}

// What the server says.

/** Some pairs to judge. html is missing if the page has it already. */
interface Tuple {
  lease: number;
  html?: string;
}

/** One pair to rate or to review. */
interface Pair {
  pair: number;
  html: string;
}

/** What stands on the screen, and more; each screen reads its part of it. */
interface Shown {
  token?: string;
  note: string;
  progress: string;
  over: boolean;
  undo: string;
  undo_off: string;
  sitting: number;
  // judging
  tuple: Tuple | null;
  ahead: Tuple[];
  answered?: string; // html of the feedback on a gold tuple
  pause?: boolean;
  // rating
  pairs: Pair[];
  // reviewing
  items: Pair[];
  figures: string; // html
  decided_of: [number, number];
  undone?: Pair;
}

type Answer = { outcome: "ok" | "refused"; body: Shown } | { outcome: "unreachable" | "failing" | "logged_out" | "forbidden"; body?: undefined };
type Answered = Extract<Answer, { body: Shown }>;

// What a person decides, as it waits on this device.

interface Decided {
  client_id: string;
  kept: number; // when it was put by; milliseconds
}

interface Times {
  shown: number;
  touched: number | null;
  active: number;
}

interface Judged extends Decided, Times {
  lease: number | null;
  html: string;
  best?: string;
  worst?: string;
  tie?: string;
}

interface Rated extends Decided, Times {
  pair: number | null;
  html: string;
  value?: string;
  skip?: string;
}

interface Reviewed extends Decided {
  pair: number;
  html: string;
  verdict: string;
  reasons: string[];
  note: string;
  text: string;
}

/** Where decisions wait: in the browser, or, in a rehearsal, in the page. */
interface Waiting<Entry extends Decided> {
  readonly prefix: string;
  readonly memory: Map<string, Entry>;
  put(entry: Omit<Entry, "kept">): void;
  remove(entry: Entry): void;
  entries(): Entry[];
  holds(subject: number | null): boolean;
  restore(): void | Promise<void>;
}

/** What is posted: by name, or as pairs of name and value. */
type Fields = Record<string, unknown> | unknown[][];

interface Sending<Entry extends Decided> {
  form: HTMLFormElement;
  outbox: Waiting<Entry>;
  fieldsOf(entry: Entry): Fields;
  taken(answer: Answered, entry: Entry): void;
  arrange(body: Shown): void;
  lacking(): boolean;
  refresh(): void;
  has?(): number[];
}

interface Sender<Entry extends Decided> {
  ask(address: string, fields: Fields): Promise<Answer>;
  deliver(): Promise<void>;
  fetchScreen(): Promise<void>;
  hindered(outcome: string): void;
  undo(undoing: Undoing<Entry>): Promise<void>;
}

/** takeBack(entry): it has not left yet. request(): what to ask the server, or nothing to undo. bringBack(screen): its answer. */
interface Undoing<Entry extends Decided> {
  takeBack(entry: Entry): void;
  request(): [string, Fields] | null;
  bringBack(screen: Shown): void;
}
