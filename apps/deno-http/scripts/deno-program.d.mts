export declare const program: string | undefined;
