def compare(mine, golden, args):
    text = "%s %s %s %s %s" % (args.factor, args["factor"], args.get("other"), args.shape_type, hasattr(args, "absent"))
    return text, [args.my_output_dump_file, "", args.ground_truth_dump_file, "%s %s" % (mine.dtype, mine.shape)]
