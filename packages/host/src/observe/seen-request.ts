/** A request that was answered. */
export interface SeenRequest {
  /** The pattern of its route, names in braces; never what a caller wrote. */
  readonly route: string;
  readonly method: string;
  readonly status: number;
  /** Until the head of the response was made. */
  readonly milliseconds: number;
}

/** Where something went wrong. */
export type SeenFault = Pick<SeenRequest, 'route' | 'method'>;
