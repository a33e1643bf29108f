package tables

// hopShapes are the sizes of the graphs of Gunrock's report on GraphSAGE: vertices, edges counted in both
// directions, and the power of ranks with which the largest row is about as large as that of the real graph.
var hopShapes = map[string]struct {
	v, e int
	root root
}{
	"flickr":      {105_938, 4_633_896, usual},
	"amazon":      {548_551, 1_851_744, usual},
	"pokec":       {1_632_803, 44_603_928, usual},
	"cit-patents": {3_774_768, 33_037_894, root{11, 4}},
	"twitter":     {7_199_978, 43_483_326, usual},
	"europe_osm":  {50_912_018, 108_109_320, root{1, 0}}, // rows alike, as those of roads
}

// hopShape is a shape of Gunrock's report or of others.
func hopShape(name string) (*power, int, error) {
	if s, ok := hopShapes[name]; ok {
		return newPower(s.v, s.root), s.e, nil
	}
	v, e, err := powerShape(name)
	if err != nil {
		return nil, 0, err
	}
	return newPower(v, usual), e, nil
}

type gunrockRow struct {
	graph          string
	cols, children int
}

// gunrockTimes are Gunrock's milliseconds on a V100, those of OpenMP with 32 threads on the same machine, and the
// batch size of the former (https://gunrock-docs.readthedocs.io/en/latest/hive/hive_graphSage).
var gunrockTimes = map[gunrockRow]struct {
	v100, openMP float64
	batch        int
}{
	{"flickr", 64, 10}: {39.894, 1094.377, 16384}, {"flickr", 64, 25}: {91.810, 2177.953, 8192}, {"flickr", 64, 100}: {448.888, 8641.063, 1024},
	{"flickr", 128, 10}: {65.131, 1849.658, 16384}, {"flickr", 128, 25}: {156.965, 3981.435, 4096}, {"flickr", 128, 100}: {802.966, 16471.338, 512},
	{"amazon", 64, 10}: {196.079, 6142.780, 16384}, {"amazon", 64, 25}: {423.145, 12674.514, 8192}, {"amazon", 64, 100}: {1963.691, 49205.359, 2048},
	{"amazon", 128, 10}: {324.067, 9978.198, 16384}, {"amazon", 128, 25}: {733.181, 21726.697, 8192}, {"amazon", 128, 100}: {3361.894, 86967.164, 2048},
	{"pokec", 64, 10}: {602.116, 17111.664, 16384}, {"pokec", 64, 25}: {1379.450, 35887.129, 8192}, {"pokec", 64, 100}: {6793.011, 140751.234, 1024},
	{"pokec", 128, 10}: {1000.310, 28987.953, 16384}, {"pokec", 128, 25}: {2366.202, 63863.352, 4096}, {"pokec", 128, 100}: {11859.789, 265325.281, 512},
	{"cit-patents", 64, 10}: {1374.782, 38803.195, 16384}, {"cit-patents", 64, 25}: {3006.717, 78112.516, 8192}, {"cit-patents", 64, 100}: {13910.529, 291278.125, 2048},
	{"cit-patents", 128, 10}: {2276.261, 65735.234, 16384}, {"cit-patents", 128, 25}: {5201.184, 141957.922, 8192}, {"cit-patents", 128, 100}: {23922.527, 560321.438, 2048},
	{"twitter", 64, 10}: {2575.303, 72372.484, 16384}, {"twitter", 64, 25}: {5658.345, 148938.422, 8192}, {"twitter", 64, 100}: {26468.915, 569925.500, 2048},
	{"twitter", 128, 10}: {4270.454, 125431.766, 16384}, {"twitter", 128, 25}: {9744.686, 267841.563, 8192}, {"twitter", 128, 100}: {45604.444, 1098039.375, 2048},
	{"europe_osm", 64, 10}: {18440.253, 497153.969, 16384}, {"europe_osm", 64, 25}: {39883.421, 1008675.500, 16384}, {"europe_osm", 64, 100}: {184128.123, 3825227.500, 4096},
}
